//! `XCli`: the command-line client of a service.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::service::Service;

pub(super) fn items(service: &Service) -> TokenStream {
    let (vis, ident, rt) = (&service.vis, &service.ident, &service.options.rt);
    let (cli, docs) = (format_ident!("{ident}Cli"), format!("Calls [`{ident}`] from a command line."));
    quote! {
        #rt::if_cli! {
            #[doc = #docs]
            #[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::marker::Copy)]
            #[allow(dead_code, reason = "for callers of the service")]
            #vis struct #cli;
        }
    }
}

pub(super) fn impls(service: &Service) -> TokenStream {
    let (vis, rt) = (&service.vis, &service.options.rt);
    let cli = format_ident!("{}Cli", service.ident);
    quote! {
        #rt::if_cli! {
            impl #cli {
                /// Returns the command, with a subcommand for each tool.
                #vis fn command() -> #rt::clap::Command {
                    #rt::command(__design())
                }

                /// Runs the command line with the arguments of this process.
                #vis async fn run() -> ::std::process::ExitCode {
                    #rt::run_cli(__design()).await
                }
            }
        }
    }
}
